import { Loops } from './loops.ts';
import { recordedAgents } from './recorded-agents.ts';

describe('recorded loops of agents', function () {
  this.timeout(30_000);
  new Loops(recordedAgents('loops')).expectAnswers(true);
});
