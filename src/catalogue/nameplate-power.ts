/**
 * W that ASIC miners draw by their nameplate, by maker and model; of several versions the usual one. Sources: makers'
 * data sheets. Leave out what is not certain: an unknown power is better than a wrong one.
 */
export const nameplatePower: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Antminer: {
    ...{ S7: 1293, S9: 1323, S9i: 1320, S9j: 1350, S9k: 1148, "S9 SE": 1280, S11: 1530, S15: 1596 },
    ...{ S17: 2520, "S17 Pro": 2094, "S17+": 2920, S17e: 2880 },
    ...{ S19: 3250, "S19 Pro": 3250, S19j: 3250, "S19j Pro": 3050, "S19j Pro+": 3355, "S19k Pro": 2760 },
    ...{ "S19 XP": 3010, "S19 Hyd": 5451, "S19 Pro+ Hyd": 5445, "S19 XP Hyd": 5346 },
    ...{ S21: 3500, "S21+": 3564, "S21 Pro": 3510, "S21 XP": 3645, "S21 Hyd": 5360, "S21+ Hyd": 4785 },
    ...{ "S21 XP Hyd": 5676, "S21e XP Hyd": 5590, S23: 3498, "S23 Hyd": 5510 },
    ...{ T9: 1450, "T9+": 1432, T15: 1541, T17: 2200, "T17+": 3200, T17e: 2915, T19: 3150, T21: 3610 },
    ...{ "L3+": 800, "L3++": 942, L7: 3425, L9: 3360 },
    ...{ D5: 1566, D7: 3148, D9: 2839, Z9: 1150, Z11: 1418, Z15: 1510, "Z15 Pro": 2780 },
    ...{ E9: 1920, "E9 Pro": 2200, K5: 1580, K7: 3080, KA3: 3154, KS5: 3000, "KS5 Pro": 3150 },
    ...{ HS3: 2079, AL1: 3510, A3: 1275 },
  },
  WhatsMiner: {
    ...{ M20S: 3360, M21S: 3360, M30S: 3344, "M30S+": 3400, "M30S++": 3472, M31S: 3220 },
    ...{ M50: 3306, M50S: 3276, M60: 3422, M60S: 3441 },
  },
  Avalon: { 841: 1290, 921: 1700, 1047: 2380, 1066: 3250, 1246: 3420, 1366: 3250 },
  Innosilicon: { T2T: 2200, A9: 620 },
};
