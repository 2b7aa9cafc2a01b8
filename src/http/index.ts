/** The operations of the contract, served over HTTP. */

export { type HttpServer, type HttpServerOptions, startHttpServer } from "./server.ts";
