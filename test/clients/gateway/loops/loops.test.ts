import { isDropped } from '../../../gateway/loops/loop-client.ts';
import { Loops } from '../../../gateway/loops/loops.ts';
import { chatStates } from '../../../gateway/support/chat-state.ts';
import { officialAgents } from './official-agents.ts';

describe('loops of agents', function () {
  this.timeout(30_000);
  const agents = officialAgents('loops', (client, { model, isStreamed }) => {
    const state = chatStates.find((each) => each.model === model);
    return isStreamed && !(state !== undefined && isDropped(state, client, isStreamed));
  });
  const loops = new Loops(agents);
  for (const isStreamed of [true, false]) {
    loops.expectAnswers(isStreamed);
    loops.expectRefusals(isStreamed);
  }
});
