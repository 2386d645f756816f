import type { Attempt } from './attempt.ts';
import type { ImportGraph } from './importers.ts';
import type { Result } from './results.ts';

/** Tests in the order in which they are tried, and the processor time that they may take. */
type LimitedTests = Pick<Attempt, 'tests' | 'cpuSeconds'>;

const nearest = 6;
const mostAlike = 6;
const maxTests = 24;
const cpuSeconds = 20;
const maxCostlyTests = 4;
const cpuSecondsOfCostlyTests = 40;
/** Of a change that was found before: it counts as missed only after all tests that load the file. */
const cpuSecondsOfAllTests = 2_000;

/** The tests that are tried on a change of a file. @param earlier the result in another checkout */
export function testsToTry(graph: ImportGraph, file: string, earlier?: Result): ReadonlyArray<LimitedTests> {
  const tests = graph.testsOf(file);
  const costly = graph.costlyTestsOf(file);
  if (earlier?.state === 'found')
    return [{ tests: likelyFirst(graph, [...tests, ...costly], earlier), cpuSeconds: cpuSecondsOfAllTests }];
  const alike = graph.alikeFirst(file, tests).slice(0, mostAlike);
  const inOrder = [...new Set([...tests.slice(0, nearest), ...alike, ...tests])];
  return [
    { tests: inOrder.slice(0, maxTests), cpuSeconds },
    { tests: costly.slice(0, maxCostlyTests), cpuSeconds: cpuSecondsOfCostlyTests },
  ];
}

/** Puts first the file that found the change before, then those that have a test with the same title. */
function likelyFirst(
  graph: ImportGraph,
  tests: ReadonlyArray<string>,
  { by, title }: Extract<Result, { state: 'found' }>,
): ReadonlyArray<string> {
  const hasTitle = (test: string) => graph.titlesIn(test).some((other) => title?.endsWith(other));
  return [...new Set([...tests.filter((test) => test === by), ...tests.filter(hasTitle), ...tests])];
}
