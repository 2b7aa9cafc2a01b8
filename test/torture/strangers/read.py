"""What other people's readers of miners take from the rigs at the given addresses, as JSON: {reader: {address: seen}}."""
import asyncio
import json
import logging
import sys

logging.disable(logging.CRITICAL)
SECONDS = 60


async def by_asic_rs(address):
    import pyasic_rs

    miner = await pyasic_rs.MinerFactory().get_miner(address)
    if miner is None:
        return None
    # It asks on several connections at once, of which a WhatsMiner drops all but one: which figures come is chance, so that
    # one is read more often.
    seen = {}
    for attempt in range(50):
        for figure, value in figures(await miner.get_data()).items():
            if not seen.get(figure):
                seen[figure] = value
        if all(seen.values()) or (attempt >= 9 and "Whatsminer" not in seen["as"]):
            break
    return seen


def figures(data):
    return {
        "as": f"{data.device_info.make} {data.device_info.model}, {data.device_info.firmware}",
        "hashrate": None if data.hashrate is None else terahash(data.hashrate.value, str(data.hashrate.unit)),
        "power": data.wattage,
        "fans": [fan.rpm for fan in data.fans if fan.rpm is not None],
        "boards": [terahash(b.hashrate.value, str(b.hashrate.unit)) for b in data.hashboards if b.hashrate is not None],
        "pools": [str(pool.url) for group in data.pools for pool in group.pools],
    }


async def by_pyasic(address):
    import pyasic

    miner = await pyasic.get_miner(address)
    if miner is None:
        return None

    async def ask(read):
        """One figure that cannot be read leaves the others."""
        try:
            return await asyncio.wait_for(read(), SECONDS)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:200]}

    hashrate, fans = await ask(miner.get_hashrate), await ask(miner.get_fans)
    boards, pools = await ask(miner.get_hashboards), await ask(miner.get_pools)
    return {
        "as": str(miner).rsplit(":", 1)[0],
        "hashrate": failed(hashrate) or (None if hashrate is None else terahash(float(hashrate), "TH/s")),
        "power": await ask(miner.get_wattage),
        "fans": failed(fans) or [fan.speed for fan in fans if fan.speed is not None],
        "boards": failed(boards) or [terahash(float(b.hashrate), "TH/s") for b in boards if b.hashrate is not None],
        "pools": failed(pools) or [str(pool.url) for pool in pools],
    }


def failed(value):
    return value if isinstance(value, dict) else None


def terahash(value, unit):
    factors = {"H/s": 1e-12, "KH/s": 1e-9, "MH/s": 1e-6, "GH/s": 1e-3, "TH/s": 1, "PH/s": 1e3, "EH/s": 1e6}
    return value * factors[unit]


async def main(addresses):
    seen = {}
    for name, read in {"asic-rs": by_asic_rs, "pyasic": by_pyasic}.items():
        seen[name] = {}
        for address in addresses:
            try:
                seen[name][address] = await asyncio.wait_for(read(address), 5 * SECONDS)
            except Exception as error:
                seen[name][address] = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(seen))


asyncio.run(main(sys.argv[1:]))
