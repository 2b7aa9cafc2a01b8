import type { Core } from "../core.ts";
import { channelOperations } from "../notifications/channels.ts";
import type { ServiceRoom } from "../room.ts";
import type { Notifications } from "./notifications.ts";
import type { Rules } from "./rules.ts";

/** Operations on channels; a channel that rules send to cannot be deleted. */
export const openChannels = (core: Core, { outbox, webTargets }: Notifications, { automation }: Rules) =>
  ({
    operations: channelOperations({
      store: core.store,
      accessBook: core.accessBook,
      book: core.channels,
      outbox,
      targets: webTargets,
      notifying: () => automation.lists(),
    }),
  }) satisfies ServiceRoom;
