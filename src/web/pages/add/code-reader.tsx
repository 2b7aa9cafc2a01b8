import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../language.ts";

/** https://wicg.github.io/shape-detection-api/#barcode-detection-api, which the types of browsers lack. */
interface BarcodeDetector {
  detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}
declare global {
  interface Window {
    readonly BarcodeDetector?: new () => BarcodeDetector;
  }
}

const lookMs = 250;

/** Whether this browser reads codes, and may use a camera: only on HTTPS, or at this machine. */
export const canReadCodes = (): boolean => window.BarcodeDetector !== undefined && "mediaDevices" in navigator;

/** Shows the camera until it has read a QR code or bar code, which is passed on. */
export function CodeReader({ read }: { readonly read: (text: string) => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const found = useRef(read);
  found.current = read;
  useEffect(() => {
    const ending = new AbortController();
    void follow(video.current, ending.signal, (text) => found.current(text)).catch((error: unknown) => {
      if (!ending.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => ending.abort();
  }, []);
  if (problem !== null) return <p role="alert">{t.add.rack.noCamera({ why: problem })}</p>;
  return <video ref={video} class="code-reader" muted playsInline aria-label={t.add.rack.read} />;
}

/** Looks at the picture of the camera until there is a code in it, and gives the camera back in any case. */
async function follow(
  video: HTMLVideoElement | null,
  signal: AbortSignal,
  read: (text: string) => void,
): Promise<void> {
  const { BarcodeDetector } = window;
  if (video === null || BarcodeDetector === undefined) return;
  const detector = new BarcodeDetector();
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  try {
    if (signal.aborted) return;
    video.srcObject = stream;
    await video.play();
    while (!signal.aborted) {
      const [code] = await detector.detect(video);
      if (code !== undefined && code.rawValue !== "" && !signal.aborted) return read(code.rawValue);
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
