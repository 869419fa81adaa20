import { Nav, NavItem, NavList } from "@patternfly/react-core/dist/dynamic/components/Nav";
import { PageSidebar, PageSidebarBody } from "@patternfly/react-core/dist/dynamic/components/Page";
import { Link, useLocation } from "@tanstack/react-router";
import { entryOf, NAVIGATION } from "./navigation";

interface Props {
  isOpen: boolean;
  onChoose: () => void;
}

export function Navigation({ isOpen, onChoose }: Props) {
  const here = entryOf(useLocation().pathname);
  return (
    <PageSidebar isSidebarOpen={isOpen} id="navigation">
      <PageSidebarBody>
        <Nav aria-label="Pages" onSelect={onChoose}>
          <NavList>
            {NAVIGATION.map((entry) => (
              <NavItem key={entry.path} itemId={entry.path} isActive={entry === here}>
                <Link to={entry.path}>{entry.title}</Link>
              </NavItem>
            ))}
          </NavList>
        </Nav>
      </PageSidebarBody>
    </PageSidebar>
  );
}
