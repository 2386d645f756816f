import type { StreamingOperation } from '#application/operations/operation.ts';
import { cancelResponse } from './endpoints/cancel-response.ts';
import { completeChat } from './endpoints/complete-chat.ts';
import { countMessageTokens } from './endpoints/count-message-tokens.ts';
import { createEmbeddings } from './endpoints/create-embeddings.ts';
import { createMessage } from './endpoints/create-message.ts';
import { createResponse } from './endpoints/create-response.ts';
import { createSpeech } from './endpoints/create-speech.ts';
import { createTranscription } from './endpoints/create-transcription.ts';
import { deleteResponse } from './endpoints/delete-response.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { getModel } from './endpoints/get-model.ts';
import { getResponse } from './endpoints/get-response.ts';
import { listModels } from './endpoints/list-models.ts';
import { listResponseInputItems } from './endpoints/list-response-input-items.ts';
import type { Gateway } from './gateway.ts';
import { type GatewayLimits, runCall } from './gateway-call.ts';

export const endpoints: ReadonlyArray<Endpoint> = [
  completeChat,
  createMessage,
  createResponse,
  getResponse,
  listResponseInputItems,
  deleteResponse,
  cancelResponse,
  countMessageTokens,
  createEmbeddings,
  createSpeech,
  createTranscription,
  listModels,
  getModel,
];

/** @param gateway null on a node without the role `gateway`, which only documents them */
export function gatewayOperations(gateway: Gateway | null, limits: GatewayLimits): ReadonlyArray<StreamingOperation> {
  return endpoints.map(({ answer, ...operation }) => ({
    ...operation,
    relay: async (request) => {
      if (gateway === null) throw new Error('This node does not have the role gateway.');
      return runCall(gateway, limits, request, answer, operation.errorForm(request.headers));
    },
  }));
}
