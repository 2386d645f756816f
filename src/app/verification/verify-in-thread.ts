import { Worker } from 'node:worker_threads';
import type { EventStoreConfig } from '#app/store-config.ts';
import type { VerificationResult } from '#digests/verify-history.ts';
import type { DigestPlace } from '#domain/history/digest.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';

export interface VerificationOrder {
  readonly eventStore: EventStoreConfig;
  readonly digestDir: string;
  /** The keys in PEM, one after the other. */
  readonly publicKeys: string;
  readonly since: DigestPlace | null;
  /** The part of a processor core that the thread may use. */
  readonly share: number;
}

export type VerificationAnswer =
  | { readonly kind: 'verified'; readonly result: VerificationResult }
  | { readonly kind: 'unavailable'; readonly detail: string };

/** A million streams have heads of about 150 MB. */
const heap: ThreadHeap = {
  thread: 'verifies the log',
  maxOldGenerationSizeMb: 768,
  maxYoungGenerationSizeMb: 8,
};

/**
 * Verifies the log in a thread, which ends with the verification.
 * @throws UnavailableError; LogError as Error; the signal's reason
 */
export async function verifyInThread(order: VerificationOrder, signal: AbortSignal): Promise<VerificationResult> {
  signal.throwIfAborted();
  const thread = new Worker(new URL('./verification-thread.ts', import.meta.url), {
    name: 'verification',
    workerData: order,
    resourceLimits: heap,
  });
  const { promise, resolve, reject } = Promise.withResolvers<VerificationAnswer>();
  thread.once('message', resolve);
  thread.once('error', (error) => reject(threadError(error, heap)));
  thread.once('exit', () => reject(new Error('The thread that verifies the log has ended.')));
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    const answer = await promise;
    if (answer.kind === 'unavailable') throw new UnavailableError(answer.detail);
    return answer.result;
  } finally {
    signal.removeEventListener('abort', leave);
    await thread.terminate();
  }
}
