import type { AttemptRecord, CallRecord } from '#gateway/relay/call-record.ts';

/** Returns a record of a call with the members that a test sets. */
export function callRecord(given: Partial<CallRecord> = {}): CallRecord {
  return {
    operation: 'chat',
    keyId: 'ck8d2v6z0x4q9m3t7w1b5n2p',
    organizationId: 'cu6d0v4z8n2b7w1k5x9m3q7t',
    projectId: 'cr9t3q7x1m5k0z4v8d2n6b0w',
    partnerId: 'cq4m1x0tz8d2k6v9w3b5n7p1',
    model: 'gpt-large',
    target: 'openai/gpt-4.1',
    provider: 'openai',
    streamed: false,
    outcome: 'served',
    errorCode: null,
    reason: null,
    requestId: '53db8bbd-6f6c-4c43-a4b2-6f4d4d1f6c2e',
    batchId: null,
    attempts: [attemptRecord()],
    headersMs: 80,
    firstContentMs: 90,
    totalMs: 100,
    endedAt: Date.UTC(2026, 0, 5, 9),
    tokens: { input: 10, output: 20 },
    characters: null,
    audioSeconds: null,
    cost: 0.5,
    brokenAttempts: [],
    ...given,
  };
}

/** Returns a record of a served attempt with the members that a test sets. */
export function attemptRecord(given: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    target: 'openai/gpt-4.1',
    result: 'served',
    status: 200,
    errorType: null,
    reason: null,
    startMs: 1,
    durationMs: 99,
    ...given,
  };
}

/** Returns records of failed attempts. */
export function failedAttempts(
  ...failed: ReadonlyArray<Pick<AttemptRecord, 'target' | 'errorType'>>
): ReadonlyArray<AttemptRecord> {
  return failed.map((each) => attemptRecord({ ...each, result: 'failed', status: 500, reason: 'provider_failed' }));
}
