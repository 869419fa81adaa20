import { Radio } from "@patternfly/react-core/dist/dynamic/components/Radio";
import { useSyncExternalStore } from "react";
import { chooseTheme, onTheme, theme, THEMES } from "../../shell/theme";

const NAMES = { system: "As the system", light: "Light", dark: "Dark" } as const;

/** Light or dark, for this browser. */
export function ThemeChoice() {
  const chosen = useSyncExternalStore(onTheme, theme);
  return (
    <div className="tw-chips" role="radiogroup" aria-label="Theme">
      {THEMES.map((each) => (
        <Radio
          key={each}
          id={`theme-${each}`}
          name="theme"
          label={NAMES[each]}
          isChecked={each === chosen}
          onChange={() => chooseTheme(each)}
        />
      ))}
    </div>
  );
}
