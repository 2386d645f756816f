import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Failed } from '../../../gateway/matrix/exchange.ts';

/**
 * What an error of an SDK says.
 * @param text of the answer before it
 * @throws the error, if the service did not send it
 */
export function failedWith(error: unknown, text: string): Failed {
  if (error instanceof OpenAI.APIError) return failed(error.status, error.code ?? error.type, text);
  if (error instanceof Anthropic.APIError) return failed(error.status, error.type, text);
  throw error;
}

function failed(status: number | undefined, code: string | null | undefined, text: string): Failed {
  return { kind: 'error', status: status ?? null, code: code ?? null, text };
}
