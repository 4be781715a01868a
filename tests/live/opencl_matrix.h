/* The product of two square matrices by tiles in local memory. Build with -DTYPE=float or uint, and
 * with groups of 16 x 16 work items. */
#define TILE "16"

static const char *MATRIX_SOURCE =
	"kernel void multiply(global const TYPE *a, global const TYPE *b, global TYPE *product) {\n"
	"    local TYPE left[" TILE "][" TILE "], above[" TILE "][" TILE "];\n"
	"    int x = get_local_id(0), y = get_local_id(1), size = get_global_size(0);\n"
	"    int column = get_global_id(0), row = get_global_id(1);\n"
	"    TYPE sum = 0;\n"
	"    for (int tile = 0; tile < size; tile += " TILE ") {\n"
	"        left[y][x] = a[row * size + tile + x];\n"
	"        above[y][x] = b[(tile + y) * size + column];\n"
	"        barrier(CLK_LOCAL_MEM_FENCE);\n"
	"        for (int k = 0; k < " TILE "; k++) sum += left[y][k] * above[k][x];\n"
	"        barrier(CLK_LOCAL_MEM_FENCE);\n"
	"    }\n"
	"    product[row * size + column] = sum;\n"
	"}\n";
