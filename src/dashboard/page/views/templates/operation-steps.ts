import type { VNode } from 'preact';
import type { Instance, InstanceOperation, OperationStep, TemplateVersion } from '#dashboard/page/api/records.ts';
import { useNow } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Icon, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card } from '#dashboard/page/parts/boxes.ts';
import { formatTime } from '#dashboard/page/text/times.ts';

interface StepsProps {
  readonly instance: Instance;
  readonly operation: InstanceOperation;
  readonly versions: ReadonlyArray<TemplateVersion>;
}

/** Shows the steps with the commit point. */
export function OperationSteps({ instance, operation, versions }: StepsProps): VNode {
  const target = versions.find(({ id }) => id === operation.templateVersionId);
  const commitAt = operation.steps.findIndex(({ action }) => action === 'remove');
  return html`<${Card} id="steps" title=${`${instance.name}: ${operation.kind}`} aside=${html`<${Status} status=${instance.status} />`}>
    <div class="body">
      <p class="muted">${target === undefined ? '' : `To version ${target.version} `}since <${Time} at=${operation.startedAt} />. ${operation.stepsDone} of ${operation.steps.length} steps.
        ${operation.undoneFor === null ? '' : ` Being undone: ${operation.undoneFor}`}</p>
      <ol class="steps">
        ${operation.steps.map(
          (
            step,
            index,
          ) => html`${index === commitAt ? html`<li class="commit"><span>commit point: a failure before it undoes everything</span></li>` : null}
          <${Step} key=${index} step=${step} isNext=${index === operation.stepsDone} problem=${operation.problem} />`,
        )}
      </ol>
      ${operation.problem === null ? null : html`<p class="small muted">${operation.problem.reason}</p>`}
    </div>
  <//>`;
}

const tickMs = 1_000;

function Step({
  step,
  isNext,
  problem,
}: {
  step: OperationStep;
  isNext: boolean;
  problem: InstanceOperation['problem'];
}): VNode {
  const now = useNow(tickMs);
  const text = html`<span>${step.action} ${step.resource} ${step.key ? html`<code>${step.key}</code>` : ''}</span>`;
  if (step.done) return html`<li><${Icon} name="check" />${text}<span></span></li>`;
  if (!isNext) return html`<li class="todo"><${Badge} tone="idle" plain=${true} />${text}<span></span></li>`;
  const wait = problem === null ? '' : `attempt ${problem.attempts + 1}, next ${formatTime(problem.retryAt, now)}`;
  return html`<li><${Badge} tone="run" plain=${true} />${text}<span class="small faint">${wait}</span></li>`;
}
