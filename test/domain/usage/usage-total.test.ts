import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { type CallAmounts, noAmounts, type UsageAmounts, UsageTotal } from '#domain/usage/usage-total.ts';

const count = fc.nat({ max: 1_000 });
const latency = fc.integer({ min: 1, max: 60_000 });

/** The amounts of one call. Sums of whole numbers are exact in any order. */
const call: fc.Arbitrary<CallAmounts> = fc.record({
  calls: fc.constant(1),
  streamed: fc.nat({ max: 1 }),
  attempts: count,
  failedTries: fc.array(
    fc.record({ target: fc.constantFrom('a/x', 'b/y'), errorType: fc.constantFrom('reset', 'timeout'), tries: count }),
    { maxLength: 3 },
  ),
  callsWithTokens: fc.nat({ max: 1 }),
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: fc.option(count),
  cacheWriteTokens: fc.option(count),
  reasoningTokens: fc.option(count),
  characters: count,
  audioSeconds: count,
  cost: fc.option(count),
  headersMs: fc.option(latency),
  firstContentMs: fc.option(latency),
  totalMs: latency,
});

function totalOf(all: ReadonlyArray<UsageAmounts>): UsageAmounts {
  const total = new UsageTotal(21);
  for (const each of all) total.add(each);
  return total.amounts();
}

function totalOfCalls(calls: ReadonlyArray<CallAmounts>): UsageAmounts {
  const total = new UsageTotal(21);
  for (const each of calls) total.addCall(each);
  return total.amounts();
}

/** Amounts without the order in which kinds of failed tries were added. */
function sorted({ failedTries, ...others }: UsageAmounts) {
  const kinds = failedTries.filter(({ tries }) => tries > 0).map((tried) => JSON.stringify(tried));
  return { ...others, failedTries: kinds.toSorted() };
}

describe('UsageTotal', () => {
  it('is the same whichever calls are added first, and in which groups', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 20 }), fc.array(call, { maxLength: 20 }), (some, others) => {
        const whole = sorted(totalOfCalls([...some, ...others]));
        assert.deepEqual(sorted(totalOfCalls([...others, ...some])), whole);
        assert.deepEqual(sorted(totalOf([totalOfCalls(some), totalOfCalls(others)])), whole);
      }),
    );
  });

  it('has nothing before amounts are added', () => {
    assert.deepEqual(totalOf([]), noAmounts);
    assert.deepEqual(totalOf([noAmounts]), noAmounts);
  });

  it('names a limited number of kinds of failed tries, and loses none', () => {
    const of = (index: number) => ({ target: 'a/x', errorType: `error${index}`, tries: 2 });
    const { failedTries } = totalOf(
      Array.from({ length: 60 }, (_, index) => ({ ...noAmounts, failedTries: [of(index)] })),
    );
    assert.equal(failedTries.length, 21);
    assert.deepEqual(failedTries[0], of(0));
    assert.deepEqual(failedTries.at(-1), { target: '_OTHER', errorType: '_OTHER', tries: 80 });
  });
});
