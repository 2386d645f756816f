import { parentPort, workerData } from 'node:worker_threads';
import { limited } from '#app/stores/limited.ts';
import { openDigestFolder } from '#app/stores/open-digest-folder.ts';
import { openLog } from '#app/stores/open-log.ts';
import { patientLogLimits } from '#app/stores/port-limits.ts';
import { readPublicKeys } from '#digests/digest-keys.ts';
import { type VerificationResult, verifyHistory } from '#digests/verify-history.ts';
import { limitProcessorShare } from '#shared/async/processor-share.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { VerificationAnswer, VerificationOrder } from './verify-in-thread.ts';

const { eventStore, digestDir, publicKeys, since, share } = workerData as VerificationOrder;
limitProcessorShare(share);
try {
  answer({ kind: 'verified', result: await verified() });
} catch (error) {
  if (!(error instanceof UnavailableError)) throw error;
  answer({ kind: 'unavailable', detail: error.message });
}

async function verified(): Promise<VerificationResult> {
  const { log, close } = await openLog(eventStore);
  try {
    const keys = readPublicKeys(publicKeys, 'the trusted keys');
    const patientLog = limited(log, patientLogLimits);
    return await verifyHistory({ log: patientLog, folder: openDigestFolder(digestDir), keys, since });
  } finally {
    await close();
  }
}

function answer(value: VerificationAnswer): void {
  parentPort?.postMessage(value);
}
