"""The server of OpenEnv: `uvicorn server.app:app --port 8000` from the folder above."""

from gpbandits_text import Answer, Prompt, load_environment
from openenv.core.env_server.http_server import create_app

app = create_app(load_environment, Answer, Prompt, env_name="gpbandits_text", max_concurrent_envs=8)


def main(host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve the environment."""
    import uvicorn

    uvicorn.run(app, host=host, port=port)


if __name__ == "__main__":
    main()
