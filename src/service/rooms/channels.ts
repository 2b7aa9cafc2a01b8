import type { Core } from "../core.ts";
import { channelOperations } from "../notifications/channels.ts";
import type { ServiceRoom } from "../room.ts";
import type { Notifications } from "./notifications.ts";
import type { Rules } from "./rules.ts";

/** The channels as people change them; what rules send to is not deleted. */
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
