import type { CallRecord } from '#gateway/relay/call-record.ts';

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
    attempts: 1,
    failedTries: [],
    headersMs: 80,
    firstContentMs: 90,
    totalMs: 100,
    tokens: { input: 10, output: 20 },
    characters: null,
    audioSeconds: null,
    cost: 0.5,
    brokenAttempts: [],
    ...given,
  };
}
