import { expect, test } from "@jest/globals";
import { type ServiceRoom, settledRooms, startRooms } from "../../src/service/room.ts";

/** Rooms that write down what happens to them; each closes when it is told to. */
function openRooms(names: readonly string[], failing?: string) {
  const happened: string[] = [];
  const ends = new Map<string, () => void>();
  const rooms = names.map(
    (name): ServiceRoom => ({
      start: () => {
        happened.push(`start ${name}`);
        if (name === failing) throw new Error(`no ${name}`);
      },
      close: async (later) => {
        happened.push(`end ${name}`);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        await later;
        happened.push(`closed ${name}`);
      },
    }),
  );
  return { rooms, happened, end: (name: string) => ends.get(name)?.() };
}

const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

test("rooms start one after the other and all begin to end in the opposite order, each waiting for those after it", async () => {
  const { rooms, happened, end } = openRooms(["a", "b", "c"]);
  const close = await startRooms([{}, ...rooms]);
  expect(happened.splice(0)).toEqual(["start a", "start b", "start c"]);
  const closed = close();
  expect(happened.splice(0)).toEqual(["end c", "end b", "end a"]);
  end("a");
  end("b");
  await turns();
  expect(happened).toEqual([]);
  end("c");
  await closed;
  expect(happened).toEqual(["closed c", "closed b", "closed a"]);
});

test("a room starts when the one before has", async () => {
  const happened: string[] = [];
  const slow = async () => {
    await turns();
    happened.push("slow");
  };
  await startRooms([{ start: slow }, { start: () => void happened.push("next") }]);
  expect(happened).toEqual(["slow", "next"]);
});

test("a room that cannot start closes all, and the error says why", async () => {
  const { rooms, happened, end } = openRooms(["a", "b", "c"], "b");
  const starting = startRooms(rooms);
  await turns();
  for (const name of ["a", "b", "c"]) end(name);
  await expect(starting).rejects.toThrow("no b");
  expect(happened.slice(2)).toEqual(["end c", "end b", "end a", "closed c", "closed b", "closed a"]);
});

test("a room that cannot close keeps no other from closing", async () => {
  const { rooms, happened, end } = openRooms(["a", "b"]);
  const failing = {
    close: () => {
      throw new Error("the disk is full");
    },
  };
  const close = await startRooms([rooms[0] ?? {}, failing, rooms[1] ?? {}]);
  const closed = close();
  end("a");
  end("b");
  await expect(closed).rejects.toThrow("the disk is full");
  expect(happened.slice(-2)).toEqual(["closed b", "closed a"]);
});

test("rooms are settled in the opposite order, since each gives work to those before it", async () => {
  const happened: string[] = [];
  const room = (name: string) => ({ settled: async () => void happened.push(name) });
  await settledRooms([room("rigs"), {}, room("runs")]);
  expect(happened).toEqual(["runs", "rigs"]);
});
