import type { FailureCode } from '#domain/shared/failure.ts';

/** The failures of every endpoint whose answer a provider makes. */
export const relayFailures: ReadonlyArray<FailureCode> = [
  'body-too-slow',
  'model-not-found',
  'rate-limited',
  'too-many-calls',
  'no-provider',
  'provider-failed',
  'provider-key-refused',
  'provider-reset',
  'provider-malformed',
  'provider-unfinished',
  'provider-too-large',
  'provider-unreachable',
  'provider-overloaded',
  'provider-timeout',
];

/** The failures of files that a request names. */
export const failuresOfFiles: ReadonlyArray<FailureCode> = [
  'too-many-files',
  'file-not-found',
  'scope-required',
  'unavailable',
];

/** The failures of a response that is made in the background. */
export const backgroundFailures: ReadonlyArray<FailureCode> = relayFailures.filter(
  (code) => code !== 'body-too-slow' && code !== 'model-not-found',
);
