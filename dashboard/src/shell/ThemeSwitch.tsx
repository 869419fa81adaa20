import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import AdjustIcon from "@patternfly/react-icons/dist/esm/icons/adjust-icon";
import MoonIcon from "@patternfly/react-icons/dist/esm/icons/moon-icon";
import SunIcon from "@patternfly/react-icons/dist/esm/icons/sun-icon";
import { useSyncExternalStore } from "react";
import { chooseTheme, onTheme, theme, THEMES } from "./theme";

const ICONS = { system: AdjustIcon, light: SunIcon, dark: MoonIcon } as const;
const NAMES = { system: "as the system", light: "light", dark: "dark" } as const;

/** Goes on to the next theme with each press. */
export function ThemeSwitch() {
  const now = useSyncExternalStore(onTheme, theme);
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? "system";
  const Icon = ICONS[now];
  const label = `Theme: ${NAMES[now]}. Change to ${NAMES[next]}`;
  return (
    <Button
      variant="plain"
      aria-label={label}
      title={label}
      icon={<Icon />}
      onClick={() => chooseTheme(next)}
    />
  );
}
