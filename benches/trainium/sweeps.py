#!/usr/bin/env python3
"""Draws sweeps of published kernels beside their simulation: `sweeps.py CALIBRATION.json OUT`.

CALIBRATION.json is what `autocomp sim calibrate --suite FOLDER --json` prints for the suite of trn2 that
`suites.py` lays out. OUT gets one SVG for each sweep: microseconds measured (filled) and simulated
(hollow) over what is swept.
"""
import json
import pathlib
import re
import sys

SWEEPS = {  # name: rows, what is swept
    "adamw": (r"adamw_v2_ch(\d+)$", "columns of a tile"),
    "silu": (r"silu_(?:v1|v3_s(\d+))$", "pieces of a row"),
    "gqa": (r"gqa_full_v4_msub(\d+)$", "rows of queries at once"),
    "rope": (r"rope_v2_layoutB_scalar(?:_w(\d+))?$", "columns of a tile"),
    "mamba": (r"mamba_v2(?:_w(\d+))?$", "columns of a tile"),
}
DEFAULT = {"silu": 1, "rope": 2048, "mamba": 512}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 260, 56, 16, 34, 46
MEASURED, SIMULATED, INK = "#1b6ca8", "#d1495b", "#555"


def picture(title, axis, points):
    """SVG of (what is swept, measured, simulated)."""
    top = 1.1 * max(max(m, s) for _, m, s in points)
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x = lambda at: LEFT + wide * (at + 0.5) / len(points)
    y = lambda value: TOP + high * (1 - value / top)
    step = 10 ** (len(str(int(top))) - 1)
    step = step / 2 if top / step < 3 else step
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11" fill="{INK}">',
        f"<title>{title}: microseconds measured and simulated</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-size="13" fill="#222">{title}, µs</text>',
        f'<circle cx="{WIDTH - 190}" cy="14" r="4" fill="{MEASURED}"/><text x="{WIDTH - 182}" y="18">measured</text>',
        f'<circle cx="{WIDTH - 100}" cy="14" r="4" fill="#fff" stroke="{SIMULATED}" stroke-width="1.5"/><text x="{WIDTH - 92}" y="18">simulated</text>',
    ]
    value = 0.0
    while value <= top:
        lines.append(
            f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
            f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
        value += step
    for colour, column in ((MEASURED, 1), (SIMULATED, 2)):
        path = " ".join(f"{x(at):.1f},{y(point[column]):.1f}" for at, point in enumerate(points))
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-opacity="0.4"/>')
        fill = colour if column == 1 else "#fff"
        for at, point in enumerate(points):
            lines.append(
                f'<circle cx="{x(at):.1f}" cy="{y(point[column]):.1f}" r="3.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
            )
    for at, point in enumerate(points):
        lines.append(f'<text x="{x(at):.1f}" y="{HEIGHT - 28}" text-anchor="middle">{point[0]}</text>')
    lines.append(f'<text x="{LEFT + wide / 2}" y="{HEIGHT - 10}" text-anchor="middle">{axis}</text></svg>')
    return "\n".join(lines) + "\n"


def main():
    """Writes the pictures."""
    found = json.load(open(sys.argv[1], encoding="utf-8"))
    out = pathlib.Path(sys.argv[2])
    for name, (pattern, axis) in SWEEPS.items():
        points = []
        for row in found.get("kernels", found)["rows"]:
            match = re.search(pattern, row["id"])
            if match and row["simulated_us"]:
                swept = int(match[1] or DEFAULT[name])
                points.append((swept, row["measured_us"], row["simulated_us"]))
        if points:
            (out / f"trn2-{name}.svg").write_text(picture(name, axis, sorted(points)), encoding="utf-8")


main()
