import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { isAbort } from '#dashboard/page/api/api.ts';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Icon, Segments } from '#dashboard/page/parts/basics.ts';
import { Card, ProblemBox } from '#dashboard/page/parts/boxes.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { formatDuration, formatFigure } from '#dashboard/page/text/numbers.ts';
import {
  type ChatAnswer,
  type ChatMessage,
  type ChatProtocol,
  curlOf,
  firstAnswer,
  protocols,
  type ReasoningChoice,
  readChat,
} from '#dashboard/page/views/gateway/chat-call.ts';

const hints = ['fast', 'balanced', 'smart', 'turbo'] as const;

/** Calls a model like any client. Shows the answer while it arrives, as text and never as markup. */
export function Playground(): VNode {
  const { api } = useSession();
  const models = useData<{ data: ReadonlyArray<{ id: string }> }>('/v1/models', { kinds: [] });
  const [protocol, setProtocol] = useState<ChatProtocol>('chat');
  const [model, setModel] = useState('auto');
  const [reasoning, setReasoning] = useState<ReasoningChoice>('balanced');
  const [messages, setMessages] = useState<ReadonlyArray<ChatMessage>>([]);
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<ChatAnswer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isCopied, setCopied] = useState(false);
  const running = useRef<AbortController | null>(null);
  const isRunning = answer !== null && !answer.isDone;
  // An answer of another protocol has no id, so the next message says all.
  const previousId = protocol === 'responses' ? (answer?.id ?? null) : null;

  const send = async () => {
    const content = text.trim();
    if (content === '' || isRunning) return;
    const asked = [
      ...messages,
      ...(answer === null ? [] : [{ role: 'assistant', content: answer.text } as const]),
      { role: 'user', content } as const,
    ];
    setMessages(asked);
    setText('');
    setError(null);
    setAnswer(firstAnswer);
    running.current = new AbortController();
    let last = firstAnswer;
    try {
      for await (const part of readChat(
        api,
        { protocol, model, reasoning, messages: asked, previousId },
        running.current.signal,
      )) {
        last = part;
        setAnswer(part);
      }
    } catch (why) {
      if (!isAbort(why)) setError(toApiError(why));
    }
    setAnswer(last.text === '' ? null : { ...last, isDone: true });
  };
  const stop = () => running.current?.abort();
  const clear = () => {
    stop();
    setMessages([]);
    setAnswer(null);
    setError(null);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void send();
    } else if (event.key === 'Escape') stop();
  };
  const copy = async () => {
    await navigator.clipboard.writeText(
      curlOf(location.origin, {
        ...{ protocol, model, reasoning, previousId },
        messages: [...messages, { role: 'user', content: text }],
      }),
    );
    setCopied(true);
  };
  const options = (models.value?.data ?? [{ id: 'auto' }]).map(({ id }) => ({ value: id, text: id }));
  return html`<${Card} id="playground" title="Playground" aside=${html`<button type="button" class="btn quiet" onClick=${copy}>Copy as curl<${Icon} name=${isCopied ? 'check' : 'copy'} /></button>`}>
    <div class="body">
      <div class="grid fit">
        <${SelectField} label="Model" value=${model} options=${options} onPick=${setModel} />
        <${SelectField} label="Protocol" value=${protocol} options=${protocols} onPick=${setProtocol} />
      </div>
      ${model === 'auto' && protocol === 'chat' ? html`<div class="field"><span class="label">Reasoning <span class="req">with auto</span></span><${Segments} label="Reasoning" value=${reasoning} options=${hints.map((value) => ({ value, text: value }))} onPick=${setReasoning} /></div>` : null}
      ${messages.length === 0 ? html`<p class="muted">Write a message to see a model’s answer.</p>` : html`<${Chat} messages=${messages} answer=${answer} />`}
      ${answer === null ? null : html`<${Stats} answer=${answer} />`}
      <${TextField} label="Message" rows=${2} value=${text} placeholder="Ask the model something" onText=${setText} onKeyDown=${pressed} />
      <div class="row">
        <button type="button" class="btn primary" disabled=${isRunning || text.trim() === ''} onClick=${send}>Send</button>
        ${isRunning ? html`<button type="button" class="btn" onClick=${stop}>Stop</button>` : messages.length === 0 ? null : html`<button type="button" class="btn" onClick=${clear}>Clear</button>`}
        <span class="hint"><kbd>Ctrl</kbd> <kbd>Enter</kbd> sends, <kbd>Esc</kbd> stops. This key pays as for any call.</span>
      </div>
    </div>
    ${error === null ? null : html`<${ProblemBox} error=${error} />`}
  <//>`;
}

function Chat({ messages, answer }: { messages: ReadonlyArray<ChatMessage>; answer: ChatAnswer | null }): VNode {
  return html`<div class="chat" role="log" aria-label="Conversation" tabindex="0">
    ${messages.map(({ role, content }, index) => html`<div class="turn-of" key=${index}><span>${role}</span><p class="said">${content}</p></div>`)}
    ${answer === null ? null : html`<div class="turn-of"><span>assistant</span><div><p class="said">${answer.text}${answer.isDone ? null : html`<span class="caret" aria-hidden="true"></span>`}</p></div></div>`}
  </div>`;
}

function Stats({ answer }: { answer: ChatAnswer }): VNode {
  const { model, firstContentMs, pieces, tokens, contentMs } = answer;
  const count = tokens ?? pieces;
  return html`<p class="stats">
    ${model === null ? null : html`<span>answered by <b>${model}</b></span>`}
    ${firstContentMs === null ? null : html`<span>first content <b>${formatDuration(Math.round(firstContentMs))}</b></span>`}
    <span><b>${formatFigure(count)}</b> ${tokens === null ? 'pieces' : 'tokens'}${answer.isDone ? '' : ' so far'}</span>
    ${contentMs > 0 && count > 1 ? html`<span><b>${formatFigure(Math.round((count * 1_000) / contentMs))}</b> a second</span>` : null}
  </p>`;
}
