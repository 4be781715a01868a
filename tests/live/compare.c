/* Compares two pictures with 4 bytes per pixel. Counts the pixels that differ by more than LIMIT in
 * a byte.
 * Usage: compare A.raw B.raw LIMIT SHARE   fails if more than SHARE of a thousand pixels differ */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	FILE *a = fopen(argv[1], "rb"), *b = fopen(argv[2], "rb");
	if (!a || !b) {
		fprintf(stderr, "compare: cannot read %s\n", a ? argv[2] : argv[1]);
		return 2;
	}
	int limit = atoi(argv[3]), largest = 0;
	long pixels = 0, off = 0, same = 0;
	unsigned char p[4], q[4];
	for (;; pixels++) {
		size_t one = fread(p, 1, 4, a), two = fread(q, 1, 4, b);
		if (one != two) {
			fprintf(stderr, "compare: sizes differ\n");
			return 1;
		}
		if (one != 4)
			break;
		int most = 0;
		for (int i = 0; i < 4; i++)
			most = abs(p[i] - q[i]) > most ? abs(p[i] - q[i]) : most;
		largest = most > largest ? most : largest;
		off += most > limit;
		same += most == 0;
	}
	printf("%ld pixels, %ld equal, %ld beyond %d, largest difference %d\n", pixels, same, off, limit, largest);
	return pixels == 0 || off * 1000 > pixels * atol(argv[4]);
}
