/** The most tries of one endpoint that run at the same time, tests included. */
export const maxTriesOfEndpoint = 8;

/** A requested test. */
export interface RequestedTest {
  /** Of its event in the endpoint's stream. */
  readonly revision: number;
  /** RFC 3339. */
  readonly time: string;
}

/** The tries of an endpoint on the node that delivers to it. */
export interface EndpointTries {
  /** Tries that run now, and tests that wait for one to end. */
  readonly running: number;
  /** Tests up to this revision of the endpoint's stream are among them or have ended. */
  readonly revision: number;
}

/** How long a requested test counts as running on a node that does not deliver. */
const assumedMs = 15_000;

/** Adds a test to the requested ones. Older ones than the newest eight make no difference. */
export function withTest(tests: ReadonlyArray<RequestedTest>, test: RequestedTest): ReadonlyArray<RequestedTest> {
  return [...tests, test].slice(-maxTriesOfEndpoint);
}

/**
 * Counts the tries of an endpoint that run at a time.
 * @param tests the newest requested tests
 * @param known null on a node that does not deliver to the endpoint: it knows only the tests
 * @param time RFC 3339
 */
export function countRunningTries(
  tests: ReadonlyArray<RequestedTest>,
  known: EndpointTries | null,
  time: string,
): number {
  if (known) return known.running + tests.filter(({ revision }) => revision > known.revision).length;
  const since = Date.parse(time) - assumedMs;
  return tests.filter((test) => Date.parse(test.time) > since).length;
}
