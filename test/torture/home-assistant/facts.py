"""What the installed Home Assistant accepts as MQTT discovery, read from its own schemas and constants: as JSON."""

import enum
import importlib
import json
import sys

import probatio

from homeassistant.components.climate import const as climate
from homeassistant.components.mqtt import abbreviations, const, schemas
from homeassistant.components.number import const as number
from homeassistant.components.sensor import const as sensor
from homeassistant.const import __version__


def mappings(schema):
    """The mappings among the parts of a schema."""
    if isinstance(schema, probatio.Schema):
        yield from mappings(schema.schema)
    elif isinstance(schema, (probatio.All, probatio.Any)):
        for part in schema.validators:
            yield from mappings(part)
    elif isinstance(schema, dict):
        yield schema


def keys_of(schema):
    """Every key of a schema with its validator, and the keys that are required."""
    keys, required = {}, set()
    for mapping in mappings(schema):
        for marker, validator in mapping.items():
            name = str(getattr(marker, "schema", marker))
            keys[name] = validator
            required.discard(name)
            if isinstance(marker, probatio.Required) and isinstance(marker.default, probatio.Undefined):
                required.add(name)
    return keys, required


def values_of(validator):
    """The values that a validator accepts where it lists them; None where it does not."""
    if isinstance(validator, probatio.In):
        return texts(validator.container)
    if isinstance(validator, probatio.Coerce):
        is_enum = isinstance(validator.type, type) and issubclass(validator.type, enum.Enum)
        return texts(validator.type) if is_enum else None
    parts = [validator.schema] if isinstance(validator, probatio.Schema) else getattr(validator, "validators", validator)
    for part in parts if isinstance(parts, (list, tuple)) else []:
        if (found := values_of(part)) is not None:
            return found
    return None


def texts(values):
    """Sorted; None, which stands for no unit, comes last."""
    plain = {value.value if isinstance(value, enum.Enum) else value for value in values}
    return sorted(str(value) for value in plain - {None}) + [None] * (None in plain)


def accepts(validator, value):
    try:
        validator(value)
    except probatio.Invalid:
        return False
    return True


def closed(schema):
    keys, required = keys_of(schema)
    return {"keys": sorted(keys), "required": sorted(required)}


common, _ = keys_of(schemas.MQTT_ENTITY_COMMON_SCHEMA)


def platform(name):
    """What a platform accepts; its keys are None where it has several schemas to choose from."""
    module = importlib.import_module(f"homeassistant.components.mqtt.{name}")
    if name == "device_automation":
        module = importlib.import_module("homeassistant.components.mqtt.device_trigger")
    keys, required = keys_of(getattr(module, "TRIGGER_DISCOVERY_SCHEMA", None) or module.DISCOVERY_SCHEMA)
    category = keys.get("entity_category")
    own = sorted(keys.keys() - common.keys())
    return {
        "keys": own if len(own) > 1 else None,
        "required": sorted(required),
        "values": {
            key: [value for value in found if value is not None]
            for key, validator in sorted(keys.items())
            if key not in common and (found := values_of(validator)) is not None
        },
        "categories": [each for each in ("config", "diagnostic") if category and accepts(category, each)],
    }


def units(table):
    return {name.value: texts(allowed) for name, allowed in sorted(table.items())}


platforms = {name: platform(name) for name in sorted(const.SUPPORTED_COMPONENTS)}
json.dump(
    {
        "homeAssistant": __version__,
        "root": closed(schemas.DEVICE_DISCOVERY_SCHEMA),
        "device": closed(schemas.MQTT_DEVICE_INFO_SCHEMA),
        "origin": closed(schemas.MQTT_ORIGIN_INFO_SCHEMA),
        "availability": closed(keys_of(schemas.DEVICE_DISCOVERY_SCHEMA)[0]["availability"].validators[1][0]),
        "availabilityModes": values_of(common["availability_mode"]),
        # What components take over from the root where they have none of their own.
        "shared": sorted(schemas.SHARED_OPTIONS),
        "entityKeys": sorted(common),
        "entityPlatforms": sorted(str(name) for name in const.ENTITY_PLATFORMS),
        "platforms": platforms,
        "sensorUnits": units(sensor.DEVICE_CLASS_UNITS),
        "sensorStateClasses": units(sensor.DEVICE_CLASS_STATE_CLASSES),
        "stateClassUnits": units(sensor.STATE_CLASS_UNITS),
        "textClasses": texts(sensor.NON_NUMERIC_DEVICE_CLASSES),
        "numberUnits": units(number.DEVICE_CLASS_UNITS),
        "climateModes": texts(climate.HVACMode),
        "climateActions": texts(climate.HVACAction),
        "shortKeys": abbreviations.ABBREVIATIONS,
        "shortDeviceKeys": abbreviations.DEVICE_ABBREVIATIONS,
        "shortOriginKeys": abbreviations.ORIGIN_ABBREVIATIONS,
    },
    sys.stdout,
    ensure_ascii=False,
)
