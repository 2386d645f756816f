import { collectYoungGarbage } from '#shared/memory/collect-garbage.ts';

const bytesBetween = 4 * 1024 * 1024;

let bytesSince = 0;

/**
 * Counts bytes of an upload that are garbage because they were written or sent, and collects young garbage every few
 * megabytes. That memory is outside V8's heap, so V8 would collect it much later:
 * docs/adr/0028-uploads-collect-their-own-garbage.md has the figures.
 */
export function countReleasedBytes(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < bytesBetween) return;
  bytesSince = 0;
  collectYoungGarbage();
}
