"""The Python packages of the integrations named on the command line, of all that they depend on or import where it is
there, and of those that Home Assistant always loads; with its file of constraints. As JSON."""

import json
import pathlib
import sys

import homeassistant
from homeassistant import bootstrap
from homeassistant.scripts import check_config

home = pathlib.Path(homeassistant.__file__).parent
waiting = {*sys.argv[1:], *bootstrap.CORE_INTEGRATIONS, *bootstrap.DEFAULT_INTEGRATIONS, "frontend", "onboarding"}
seen = set()
requirements = set(check_config.REQUIREMENTS)
while waiting:
    name = waiting.pop()
    seen.add(name)
    file = home / "components" / name / "manifest.json"
    if not file.exists():
        continue
    manifest = json.loads(file.read_text())
    requirements.update(manifest.get("requirements", []))
    waiting |= {*manifest.get("dependencies", []), *manifest.get("after_dependencies", [])} - seen
json.dump({"constraints": str(home / "package_constraints.txt"), "requirements": sorted(requirements)}, sys.stdout)
