import { Flex, FlexItem } from "@patternfly/react-core/dist/dynamic/layouts/Flex";
import { PageSection } from "@patternfly/react-core/dist/dynamic/components/Page";
import { Title } from "@patternfly/react-core/dist/dynamic/components/Title";
import { useEffect, type ReactNode } from "react";

interface Props {
  /** What the page is called, also in the window's title. */
  title: string;
  /** What stands beside the title: labels, a time. */
  beside?: ReactNode;
  /** Buttons at the right. */
  actions?: ReactNode;
  /** Whether the content has the rest of the window's height, and scrolls by itself. */
  isFilled?: boolean;
  children: ReactNode;
}

/** The frame of every page. */
export function PageFrame({ title, beside, actions, isFilled = false, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Trainway`;
  }, [title]);
  return (
    <>
      <PageSection hasBodyWrapper={false} className="tw-heading">
        <Flex alignItems={{ default: "alignItemsCenter" }} gap={{ default: "gapMd" }}>
          <FlexItem>
            <Title headingLevel="h1" className="tw-break">
              {title}
            </Title>
          </FlexItem>
          {beside && <FlexItem>{beside}</FlexItem>}
          {actions && <FlexItem align={{ default: "alignRight" }}>{actions}</FlexItem>}
        </Flex>
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled={isFilled} className={isFilled ? "tw-filled" : "tw-body"}>
        {children}
      </PageSection>
    </>
  );
}
