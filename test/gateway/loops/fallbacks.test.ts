import { expectFallbacks } from './fallbacks.ts';
import { recordedAgents } from './recorded-agents.ts';

describe('a recorded loop whose provider fails after its first step', function () {
  this.timeout(30_000);
  expectFallbacks(recordedAgents('loop-fallbacks'));
});
