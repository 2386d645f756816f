import { agentProfileFailures } from './agent-profile/failures.ts';
import { apiKeyFailures } from './api-key/failures.ts';
import { batchFailures } from './batch/failures.ts';
import { fileFailures } from './file/failures.ts';
import { flowFailures } from './flow/failures.ts';
import { gatewayFailures } from './gateway/failures.ts';
import { storedResponseFailures } from './gateway/stored-response-failures.ts';
import { historyFailures } from './history/failures.ts';
import { instanceFailures } from './instance/failures.ts';
import { operatorFailures } from './operator/failures.ts';
import { serviceFailures } from './operator/service-failures.ts';
import { organizationFailures } from './organization/failures.ts';
import { phoneNumberFailures } from './phone-number/failures.ts';
import { projectFailures } from './project/failures.ts';
import { admissionFailures } from './request/admission-failures.ts';
import { requestFailures } from './request/failures.ts';
import { writingFailures } from './request/writing-failures.ts';
import { type FailureCode, type FailureText, failureCodes } from './shared/failure.ts';
import { storeFailures } from './store/failures.ts';
import { templateFailures } from './template/failures.ts';
import { usageFailures } from './usage/failures.ts';
import { webhookEndpointFailures } from './webhook-endpoint/failures.ts';

const texts: Readonly<Record<FailureCode, FailureText>> = {
  ...requestFailures,
  ...admissionFailures,
  ...writingFailures,
  ...apiKeyFailures,
  ...organizationFailures,
  ...projectFailures,
  ...flowFailures,
  ...phoneNumberFailures,
  ...agentProfileFailures,
  ...templateFailures,
  ...instanceFailures,
  ...fileFailures,
  ...storeFailures,
  ...batchFailures,
  ...webhookEndpointFailures,
  ...historyFailures,
  ...usageFailures,
  ...operatorFailures,
  ...serviceFailures,
  ...gatewayFailures,
  ...storedResponseFailures,
};

/** All failures in the order of the codes. */
export const failures = Object.fromEntries(failureCodes.map((code) => [code, texts[code]])) as typeof texts;

/** On the gateway a body that is not JSON is invalid input. */
export function gatewayStatus(code: FailureCode): number {
  return code === 'malformed-json' || code === 'invalid-encoding' ? 422 : failures[code].status;
}
