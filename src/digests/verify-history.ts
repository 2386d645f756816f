import type { KeyObject } from 'node:crypto';
import type { Digest, DigestPlace } from '#domain/history/digest.ts';
import type { LogVerification } from '#domain/history/verification.ts';
import { verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import { comparePlaces, DigestRefusedError } from './digest.ts';
import { DigestCheck } from './digest-check.ts';
import type { DigestFolder } from './digest-folder.ts';
import { readNewHeads } from './new-heads.ts';

const maxFindings = 20;

export interface VerifiedHistory {
  readonly log: RawLog;
  readonly folder: DigestFolder;
  /** The keys whose signatures are accepted. */
  readonly keys: ReadonlyArray<KeyObject>;
  /** The place up to which the log is verified already; null to verify the whole log. */
  readonly since: DigestPlace | null;
}

export interface VerificationResult extends Pick<LogVerification, 'events' | 'digest' | 'findings' | 'findingCount'> {
  readonly isWhole: boolean;
}

/**
 * Verifies a log: every hash chain, every digest's signature, and that the digests were made of this log. From a digest
 * on it reads only the events after it, of which the newest digest proves that none was altered, removed or added.
 * @throws LogError if there is no digest; UnavailableError
 */
export async function verifyHistory({ log, folder, keys, since }: VerifiedHistory): Promise<VerificationResult> {
  const findings = new Findings();
  const check = await DigestCheck.open(folder, keys, { fault: findings.add, note: () => undefined });
  const newest = check.digests.at(-1) ?? null;
  const from = since === null ? undefined : check.digests.find((digest) => comparePlaces(digest, since) === 0);
  const isWhole = from === undefined || from.chain !== newest?.chain;
  const events =
    from === undefined || newest === null || isWhole
      ? await verifyWhole(log, check, findings)
      : await verifyNew(log, from, newest, findings);
  const isHeld = newest !== null && findings.count === 0;
  const digest = isHeld ? { chain: newest.chain, number: newest.number } : null;
  return { isWhole, events, digest, findings: findings.first, findingCount: findings.count };
}

async function verifyWhole(log: RawLog, digests: DigestCheck, findings: Findings): Promise<number> {
  const check = new LogCheck(findings.add);
  await verifyLog({
    log,
    check,
    report: () => undefined,
    signal: neverAborted,
    onVerified: (event) => digests.add(event, check.heads),
  });
  await digests.finish(check.heads);
  return check.events;
}

/** @returns the number of events of chained streams that it has read */
async function verifyNew(log: RawLog, from: Digest, newest: Digest, findings: Findings): Promise<number> {
  try {
    const upTo = await readNewHeads(log, from, neverAborted, newest.position);
    if (upTo.events !== newest.events || upTo.sequence !== newest.sequence || upTo.lastEvent !== newest.lastEvent)
      findings.add(
        `the events from digest ${from.number} to digest ${newest.number} of chain ${newest.chain} are not those that the ` +
          'digests were made of, or not in their order',
      );
    const all = await readNewHeads(log, newest, neverAborted);
    return all.events - from.events;
  } catch (error) {
    if (!(error instanceof DigestRefusedError)) throw error;
    findings.add(error.message);
    return 0;
  }
}

/** A signal that never aborts, because the thread that verifies is ended as a whole. */
const neverAborted = new AbortController().signal;

class Findings {
  readonly first: string[] = [];
  count = 0;

  readonly add = (text: string): void => {
    this.count += 1;
    if (this.first.length < maxFindings) this.first.push(text);
  };
}
