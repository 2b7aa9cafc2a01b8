import { z } from "zod";
import { asked } from "./form-kind.ts";
import { secret } from "./secrets.ts";

/** A web address. A password in it would appear in logs. */
export const WebAddress = asked(
  "line",
  z
    .url({ protocol: /^https?$/, error: "must be a web address such as http://192.168.1.5/api/temperature" })
    .max(2000)
    .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), "must not contain a password; put it in headers"),
);

/** The headers of a request; each value may be a secret. */
export const HttpHeaders = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, "is not the name of a header"),
  secret(
    z
      .string()
      .max(4000)
      .regex(/^[\x20-\x7e]*$/, "must be one line of printable ASCII"),
  ),
);
