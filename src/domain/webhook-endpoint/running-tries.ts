/** Maximum number of tries at the same time, tests included. */
export const maxTriesOfEndpoint = 8;

export interface RequestedTest {
  /** The revision of its event in the endpoint's stream. */
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

/** A requested test counts as running this long on a node that does not deliver. */
const assumedMs = 15_000;

/** Older tests than the newest eight make no difference. */
export function withTest(tests: ReadonlyArray<RequestedTest>, test: RequestedTest): ReadonlyArray<RequestedTest> {
  return [...tests, test].slice(-maxTriesOfEndpoint);
}

/**
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
