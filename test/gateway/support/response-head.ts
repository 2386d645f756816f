import type { Keeping, ResponseHead } from '#gateway/response/response-handler.ts';

/** The head of an answer of a target that speaks the client's protocol. */
export function headOf(contentType: string, keeping: Partial<Keeping> = {}): ResponseHead {
  return {
    status: 200,
    headers: { 'content-type': contentType },
    translator: null,
    provider: 'openai',
    redactor: null,
    servedFrom: { model: 'fast', target: 'openai/gpt-x' },
    servedBy: [],
    earlyHeadMs: 0,
    costHeader: null,
    keeping: { beforeFirstByte: null, beforeLastByte: null, ...keeping },
  };
}
