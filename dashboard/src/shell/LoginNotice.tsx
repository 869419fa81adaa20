import { PageFrame } from "../components/PageFrame";
import { loginAddress } from "../data/session";

/** How to log in, instead of any page. */
export function LoginNotice() {
  return (
    <PageFrame title="You are not logged in">
      <p>
        Run <code>trainway dashboard</code> on the machine of the server, and open the link that it prints.
      </p>
      <p>
        Or <a href={loginAddress()}>log in with the server’s token</a>, which{" "}
        <code>trainway server token show</code> prints there.
      </p>
    </PageFrame>
  );
}
