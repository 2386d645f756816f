import { expectFallbacks } from '../../../gateway/loops/fallbacks.ts';
import { officialAgents } from './official-agents.ts';

describe('a loop whose provider fails after its first step', function () {
  this.timeout(30_000);
  expectFallbacks(officialAgents('loop-fallbacks', () => true));
});
