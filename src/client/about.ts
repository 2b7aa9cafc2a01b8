import type { Caller } from "../contract/service.ts";
import { About } from "../contract/session.ts";
import { garbled } from "./answers.ts";
import type { ServerSession } from "./server-session.ts";

/**
 * The rights of a caller at a server, as reported by it. A server that does not report them shows its refusals only
 * when an operation is called. `locale` is that of a foreign server's display strings.
 */
export async function aboutCaller(session: ServerSession, caller: Caller, locale: string): Promise<About> {
  const { features, describesCallers } = await session.server();
  if (describesCallers) {
    const { data } = About.safeParse(await session.describeCaller(caller));
    if (data === undefined) throw garbled(`${session.wire.origin} does not describe the session as expected`);
    return { ...data, operations: data.operations.filter((name) => [...features].some((each) => each === name)) };
  }
  return {
    user: { id: caller.userId ?? null, name: null, privilege: "administrator", sees: "all" },
    display: { locale, currency: null, timeZone: null },
    demo: false,
    operations: [...features],
  };
}
