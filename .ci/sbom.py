#!/usr/bin/env python3
"""Writes what the program is made of, as a CycloneDX document: .ci/sbom.py TARGET >FILE

From Cargo.lock and the crates' own manifests, for one target and the features that are
on by default; without crates that only build or test. Equal sources give equal bytes.
"""

import json
import subprocess
import sys


def main():
    target = sys.argv[1]
    metadata = json.loads(
        subprocess.check_output(
            [
                "cargo",
                "metadata",
                "--format-version=1",
                "--locked",
                "--manifest-path=crates/autocomp/Cargo.toml",
                f"--filter-platform={target}",
            ]
        )
    )
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    [root] = [it for it, package in packages.items() if package["name"] == "autocomp"]
    checksums = checksums_of("Cargo.lock")
    needs = {}
    waiting = [root]
    while waiting:
        package = waiting.pop()
        if package in needs:
            continue
        # What only builds or tests is not in the program.
        needs[package] = sorted(
            dependency["pkg"]
            for dependency in nodes[package]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        )
        waiting.extend(needs[package])
    name = {it: f"pkg:cargo/{packages[it]['name']}@{packages[it]['version']}" for it in needs}
    component = {it: component_of(packages[it], name[it], checksums) for it in needs}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component[root], "type": "application"}},
        "components": sorted(
            (component[it] for it in needs if it != root), key=lambda it: it["bom-ref"]
        ),
        "dependencies": sorted(
            (
                {"ref": name[it], "dependsOn": sorted(name[other] for other in needs[it])}
                for it in needs
            ),
            key=lambda it: it["ref"],
        ),
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


def component_of(package, reference, checksums):
    component = {
        "type": "library",
        "bom-ref": reference,
        "purl": reference,
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": package["license"].replace("/", " OR ")}],
    }
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return component


def checksums_of(path):
    """Returns the checksum of each package of a lock file that has one."""
    checksums = {}
    for package in open(path, encoding="utf-8").read().split("[[package]]")[1:]:
        fields = dict(
            line.replace('"', "").split(" = ", 1) for line in package.splitlines() if " = " in line
        )
        if "checksum" in fields:
            checksums[fields["name"], fields["version"]] = fields["checksum"]
    return checksums


main()
