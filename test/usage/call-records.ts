import type { CallRecord } from '#src/gateway/call-record.ts';

/** A record of a call, with what a test cares about. */
export function callRecord(given: Partial<CallRecord> = {}): CallRecord {
  return {
    operation: 'chat',
    keyId: 'ck8d2v6z0x4q9m3t7w1b5n2p',
    model: 'gpt-large',
    target: 'openai/gpt-4.1',
    provider: 'openai',
    streamed: false,
    outcome: 'served',
    errorCode: null,
    attempts: 1,
    headersMs: 80,
    firstContentMs: 90,
    totalMs: 100,
    tokens: { input: 10, output: 20 },
    characters: null,
    audioSeconds: null,
    cost: 0.5,
    ...given,
  };
}
