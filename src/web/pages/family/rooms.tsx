import { RoomCard } from "./room-card.tsx";
import type { Rooms as RoomsState } from "./use-rooms.ts";
import "./family.css";

/** All rooms and surpluses, those with a temperature first. */
export const Rooms = ({ rooms }: { rooms: RoomsState }) => (
  <>
    {rooms.problem === null ? null : (
      <p class="banner bad" role="status">
        {rooms.problem}
      </p>
    )}
    <div class="rooms">
      {(rooms.list ?? []).map((room) => (
        <RoomCard key={room.key} room={room} replace={rooms.replace} />
      ))}
    </div>
  </>
);
