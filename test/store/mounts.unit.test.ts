import { expect, test } from "@jest/globals";
import { mountPoints } from "../../src/store/file.ts";

test("mount points are recognised by path, with spaces and backslashes too", () => {
  const mountinfo = [
    "22 27 0:21 / /proc rw,nosuid - proc proc rw",
    "31 27 8:1 /srv/rigbridge.db /data/rigbridge.db rw,relatime - ext4 /dev/sda1 rw",
    "32 27 8:1 /x /my\\040rigs/a\\134b.db rw shared:1 - ext4 /dev/sda1 rw",
    "",
  ].join("\n");
  expect(mountPoints(mountinfo)).toEqual(["/proc", "/data/rigbridge.db", "/my rigs/a\\b.db"]);
});
