/** What one client may take of the server. Times in ms, sizes in bytes. */
export const httpLimits = {
  /** Longest body of a request. */
  body: 1_000_000,
  /** Chunks or packets that a body may come in. */
  pieces: 2_048,
  /** Deepest nesting of a JSON body. */
  depth: 32,
  /** Request line and headers together. */
  headers: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  /** How often the two deadlines above are looked at. */
  checkInterval: 1_000,
  connections: 20_000,
  requestsPerConnection: 10_000,
  /** Memory of all requests that were sent behind one that is not answered yet; half of it for one address. */
  pipelinedBytes: 24_000_000,
  /** All answers that are made and not read yet, without the big ones; half of it for one address or user. */
  answers: 32_000_000,
  /** An answer longer than this is a big one, for one slow reader of 33 MB is as dear as many small ones. */
  bigAnswer: 1_000_000,
  bigAnswers: 144_000_000,
  /** In number. */
  bigAnswersWaiting: 64,
  /** A reader that takes longer over a big answer is cut off. */
  bigAnswerTimeout: 120_000,
  /** So is one that has taken nothing of any answer for so long; seen by what is written at once, 256 kB at most. */
  stallTimeout: 30_000,
  /** Clients that watch events at once, in number; of one user, key or address; and kept for the service's own key. */
  eventStreams: 256,
  eventStreamsEach: 64,
  eventStreamsOfOwner: 16,
  /** Between two comments on a stream of events; a client that reads nothing for that long, or twice, is cut off. */
  eventCommentInterval: 15_000,
  /** Requests that change something, of one user or one address: so many at once, and so many a second from then on. */
  writeBurst: 1_000,
  writesPerSecond: 100,
  /** What requests under way get when the server stops. */
  closeTimeout: 3_000,
};
export type HttpLimits = typeof httpLimits;
