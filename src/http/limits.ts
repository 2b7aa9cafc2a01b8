/** Limits per client and for all clients together. Times in ms, sizes in bytes. */
export const httpLimits = {
  /** Longest body of a request. */
  body: 1_000_000,
  /** Chunks or packets of a body. */
  pieces: 2_048,
  /** Deepest nesting of a JSON body. */
  depth: 32,
  /** Request line and headers together. */
  headers: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  /** Interval at which Node checks the deadlines above. */
  checkInterval: 1_000,
  connections: 20_000,
  requestsPerConnection: 10_000,
  /** Memory for requests that are pipelined behind an unanswered one; half of it for one address. */
  pipelinedBytes: 24_000_000,
  /** Bytes of unread answers, without the big ones; half of it for one address or user. */
  answers: 32_000_000,
  /** Longer answers are big: one slow reader of 33 MB costs as much as many small answers. */
  bigAnswer: 1_000_000,
  bigAnswers: 144_000_000,
  /** Number of requests. */
  bigAnswersWaiting: 64,
  /** A reader that takes longer over a big answer is cut off. */
  bigAnswerTimeout: 120_000,
  /** So is a reader that has read nothing of any answer for this long, in steps of up to 256 kB. */
  stallTimeout: 30_000,
  /** Open event streams: in total; of one user, key or address; reserved for the service's own key. */
  eventStreams: 256,
  eventStreamsEach: 64,
  eventStreamsOfOwner: 16,
  /** Interval of comments on event streams; a client that reads nothing for one or two of them is cut off. */
  eventCommentInterval: 15_000,
  /** Writes of one user or address: the burst, and the rate per second after it. */
  writeBurst: 1_000,
  writesPerSecond: 100,
  /** How much longer, and for how many bytes, a connection is read after its last answer; and while nothing comes. */
  lingerTimeout: 30_000,
  lingerIdle: 2_000,
  lingerBytes: 16_000_000,
  /** Time for pending requests when the server stops. */
  closeTimeout: 3_000,
};
export type HttpLimits = typeof httpLimits;
