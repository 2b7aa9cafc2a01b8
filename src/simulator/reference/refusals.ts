/**
 * The refusals of the twin. The document shows neither statuses nor a format of errors, so they vary by kind, like
 * those of a product that grew over years: a line of text, or an object with a message.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  /** The body: a text, or `{ "message": ... }`. */
  readonly form: "text" | "json";

  constructor(status: number, form: "text" | "json", message: string) {
    super(message);
    this.status = status;
    this.form = form;
  }
}

export const badRequest = (message: string): Refusal => new Refusal(400, "text", message);
export const noKey = (): Refusal => new Refusal(401, "text", "A valid API key is required.");
export const notAllowed = (): Refusal => new Refusal(403, "text", "The user is not allowed to do this.");
export const notThere = (what: string, id: string | number): Refusal =>
  new Refusal(404, "json", `No ${what} with the ID ${id} was found.`);
export const wrongMethod = (method: string): Refusal =>
  new Refusal(405, "json", `The requested resource does not support http method '${method}'.`);
export const notNow = (message: string): Refusal => new Refusal(409, "json", message);
export const tooLarge = (): Refusal => new Refusal(413, "text", "The request is too large.");
export const notJson = (): Refusal => new Refusal(415, "json", "The media type of the request is not supported.");
