/** The encodings of a text. */
export const writings = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  // Base64 in the middle of other bytes, at any offset.
  const inBase64 = [0, 1, 2].flatMap((skipped) =>
    (["base64", "base64url"] as const).map((coding) => bytes.subarray(skipped).toString(coding).slice(0, 20)),
  );
  const inJson = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret);
  return [
    secret,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    url,
    url.toLowerCase(),
    encodeURI(secret),
    ...inBase64,
    bytes.toString("hex"),
  ];
};
