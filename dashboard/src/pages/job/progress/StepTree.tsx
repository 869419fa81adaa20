import BanIcon from "@patternfly/react-icons/dist/esm/icons/ban-icon";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import CircleIcon from "@patternfly/react-icons/dist/esm/icons/outlined-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import InProgressIcon from "@patternfly/react-icons/dist/esm/icons/in-progress-icon";
import PauseCircleIcon from "@patternfly/react-icons/dist/esm/icons/pause-circle-icon";
import type { Step, StepState } from "./steps";

const LOOKS = {
  done: { Icon: CheckCircleIcon, word: "done" },
  active: { Icon: InProgressIcon, word: "under way" },
  waiting: { Icon: CircleIcon, word: "not begun" },
  failed: { Icon: ExclamationCircleIcon, word: "failed" },
  paused: { Icon: PauseCircleIcon, word: "paused" },
  skipped: { Icon: BanIcon, word: "not done" },
} as const satisfies Record<StepState, object>;

/** The way of the job: what is done, what is under way, what comes. */
export function StepTree({ steps, label = "Steps of the job" }: { steps: Step[]; label?: string }) {
  return (
    <ul className="tw-steps" aria-label={label}>
      {steps.map((step) => {
        const { Icon, word } = LOOKS[step.state];
        return (
          <li key={step.key}>
            <span className={`tw-step tw-step-${step.state}`}>
              <Icon aria-hidden="true" />
              <span>
                <span className="tw-step-title">{step.title}</span> <span className="tw-subtle">{word}</span>
                {step.detail && <span className="tw-step-detail tw-subtle tw-break">{step.detail}</span>}
              </span>
            </span>
            {step.children.length > 0 && <StepTree steps={step.children} label={`Steps of ${step.title}`} />}
          </li>
        );
      })}
    </ul>
  );
}
