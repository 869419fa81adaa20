import { Button } from "@patternfly/react-core/dist/dynamic/components/Button";
import {
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadMain,
  MastheadToggle,
} from "@patternfly/react-core/dist/dynamic/components/Masthead";
import { Page, PageToggleButton } from "@patternfly/react-core/dist/dynamic/components/Page";
import { SkipToContent } from "@patternfly/react-core/dist/dynamic/components/SkipToContent";
import BarsIcon from "@patternfly/react-icons/dist/esm/icons/bars-icon";
import KeyboardIcon from "@patternfly/react-icons/dist/esm/icons/keyboard-icon";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { Loading } from "../components/Loading";
import icon from "../icon.svg";
import { LiveMark } from "./LiveMark";
import { Navigation } from "./Navigation";
import { NAVIGATION } from "./navigation";
import { ThemeSwitch } from "./ThemeSwitch";
import { focusRow, focusSearch, useShortcuts } from "./useShortcuts";

const HelpDialog = lazy(() => import("./HelpDialog"));
const WIDE = "(min-width: 75rem)";

/** The frame around all pages. */
export function Shell() {
  const [isOpen, setOpen] = useState(() => window.matchMedia(WIDE).matches);
  const [isHelp, setHelp] = useState(false);
  const navigate = useNavigate();
  useShortcuts([
    { keys: "/", does: "Search on this page", run: focusSearch },
    { keys: "j", does: "Next row", run: () => focusRow(1) },
    { keys: "k", does: "Previous row", run: () => focusRow(-1) },
    ...NAVIGATION.map(({ key, path, title }) => ({
      keys: `g ${key}`,
      does: `Go to ${title}`,
      run: () => void navigate({ to: path }),
    })),
    { keys: "?", does: "Show these keys", run: () => setHelp(true) },
  ]);
  const masthead = (
    <Masthead>
      <MastheadMain>
        <MastheadToggle>
          <PageToggleButton
            isSidebarOpen={isOpen}
            onSidebarToggle={() => setOpen(!isOpen)}
            aria-label="Navigation"
            aria-controls="navigation"
            icon={<BarsIcon />}
          />
        </MastheadToggle>
        <MastheadBrand>
          <Link to="/" className="tw-brand">
            <img src={icon} alt="" width="28" height="28" /> Trainway
          </Link>
        </MastheadBrand>
      </MastheadMain>
      <MastheadContent className="tw-tools">
        <LiveMark />
        <ThemeSwitch />
        <Button
          variant="plain"
          aria-label="Keys"
          title="Keys (?)"
          icon={<KeyboardIcon />}
          onClick={() => setHelp(true)}
        />
      </MastheadContent>
    </Masthead>
  );
  return (
    <Page
      masthead={masthead}
      sidebar={
        <Navigation isOpen={isOpen} onChoose={() => setOpen(window.matchMedia(WIDE).matches && isOpen)} />
      }
      skipToContent={<SkipToContent href="#content">Skip to the content</SkipToContent>}
      mainContainerId="content"
      isContentFilled
    >
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
      {isHelp && (
        <Suspense fallback={null}>
          <HelpDialog onClose={() => setHelp(false)} />
        </Suspense>
      )}
    </Page>
  );
}
