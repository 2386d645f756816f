import assert from 'node:assert/strict';
import type { Begin, LoopClient, LoopOptions } from '../../../gateway/loops/loop-client.ts';
import { conversationName } from '../../../gateway/loops/recorded-agents.ts';
import { Recorder } from '../../support/recorder.ts';
import { agentsSdk } from './agents-sdk.ts';
import { aiSdk } from './ai-sdk.ts';
import { langChain } from './langchain.ts';

const sdks = { ...aiSdk, ...agentsSdk, ...langChain };

/** Begins conversations with the SDKs. Those that `npm test` plays are recorded. */
export function officialAgents(
  suite: string,
  isRecorded: (client: LoopClient, options: LoopOptions) => boolean,
): Begin {
  const recorder = new Recorder(suite);
  return (client, options) => {
    const ask = (sdks[client.name] ?? assert.fail(client.name))(options);
    if (!isRecorded(client, options)) return ask;
    const tape = recorder.record(conversationName(client, options));
    return (question) => tape.step(() => ask(question));
  };
}
