import { FakeProvider } from './fake-provider.ts';

/** Two providers for the tests of a suite. */
export interface TwoProviders {
  readonly primary: FakeProvider;
  readonly backup: FakeProvider;
}

/** Starts them before the suite's tests and stops them after. Not to be looked at before the first test. */
export function twoProviders(): TwoProviders {
  let started: readonly [FakeProvider, FakeProvider] | null = null;
  const at = (index: 0 | 1): FakeProvider => {
    if (started === null) throw new Error('The providers have not started yet');
    return started[index];
  };
  before(async () => {
    started = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([at(0).stop(), at(1).stop()]));
  return {
    get primary() {
      return at(0);
    },
    get backup() {
      return at(1);
    },
  };
}
