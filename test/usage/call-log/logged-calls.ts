import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import type { LoggedCall } from '#usage/call-log/call-log.ts';

/** The time of a call in a test. */
export const timeOfCall = (seconds: number) => new Date(Date.UTC(2026, 0, 5) + seconds * 1_000).toISOString();

/** Returns a served call with the members that a test sets. */
export function recordedCall(given: Partial<RecordedCall> = {}): RecordedCall {
  return {
    requestId: 'request-1',
    time: timeOfCall(0),
    keyId: 'ck8d2v6z0x4q9m3t7w1b5n2p',
    operation: 'chat',
    model: 'gpt-large',
    streamed: false,
    outcome: 'served',
    reason: null,
    attempts: [
      {
        targetNumber: 1,
        target: 'openai/gpt-4.1',
        result: 'served',
        status: 200,
        reason: null,
        startMs: 0.5,
        durationMs: 99,
      },
    ],
    firstContentMs: 90,
    totalMs: 100,
    inputTokens: 10,
    outputTokens: 20,
    characters: null,
    audioSeconds: null,
    batchId: null,
    callsRepresented: 1,
    cost: 0.5,
    ...given,
  };
}

/** Returns a call of a project, as the log stores it. @param seconds when it began */
export function loggedCall(
  seconds: number,
  id: string,
  given: Partial<RecordedCall> = {},
  projectId = 'one',
): LoggedCall {
  return { id, projectId, call: recordedCall({ time: timeOfCall(seconds), requestId: `request-${id}`, ...given }) };
}
