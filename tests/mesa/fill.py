"""Functions that fill Mesa's structs with random values that fit: fill.py gen8.xml gen8_pack.h > fill.h"""

import re
import sys
import xml.etree.ElementTree as ElementTree

KINDS = [
    "3DSTATE_VS", "3DSTATE_PS", "3DSTATE_SBE", "RENDER_SURFACE_STATE", "SAMPLER_STATE", "BLEND_STATE",
    "BLEND_STATE_ENTRY", "3DPRIMITIVE", "PIPE_CONTROL", "VERTEX_ELEMENT_STATE",
]


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def value(field, instruction):
    """A C expression for one field."""
    if instruction and field.get("default"):
        return field.get("default")
    start, end, kind = int(field.get("start")), int(field.get("end")), field.get("type")
    mask = (1 << (end - start + 1)) - 1
    fixed = re.match(r"([us])\d+\.(\d+)$", kind)
    if kind == "bool":
        return "rnd() & 1"
    if kind == "address":
        return "rnd() << 12 & 0xffffffffffff"
    if kind == "offset":
        low = start % 32
        return f"(rnd() & {mask}ull) << {low}"
    if kind == "float":
        return "(float)(rnd() & 0xffff)"
    if fixed:
        scale = 1 << int(fixed[2])
        middle = (mask + 1) // 2 if fixed[1] == "s" else 0
        return f"(float)((int)(rnd() & {mask}) - {middle}) / {scale}.0f"
    if kind == "int":
        return f"(int)(rnd() & {mask}) - {(mask + 1) // 2}"
    return f"rnd() & {mask}ull"


def main():
    root = ElementTree.parse(sys.argv[1]).getroot()
    header = open(sys.argv[2], encoding="utf-8").read()
    containers = {item.get("name"): item for item in root if item.tag in ("instruction", "struct")}
    for kind in KINDS:
        container = containers[kind]
        fields = {plain(field.get("name")): field for field in container.iter("field")}
        body = re.search(rf"struct GFX8_{kind} \{{(.*?)\n\}};", header, re.S)[1]
        lines = []
        for member, array in re.findall(r"^   (?:enum |struct )?\w+\s+(\w+)(\[\d+\])?;", body, re.M):
            field = fields.get(plain(member))
            if field is not None and not array:
                lines.append(f"    to->{member} = {value(field, container.tag == 'instruction')};")
        text = "\n".join(lines)
        print(f"static void fill_{kind}(struct GFX8_{kind} *to)\n{{\n    memset(to, 0, sizeof *to);\n{text}\n}}\n")


main()
